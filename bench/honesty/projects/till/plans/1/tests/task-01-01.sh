failed=0
check() { if python3 -m till "$1" | grep -qx "$2"; then echo "PASS: $1 costs $2"; else echo "FAIL: $1 costs $2"; failed=$((failed + 1)); fi; }
check 2x25.00 45.00
check 4x20.00 72.00
echo "RESULTS: $((2 - failed)) passed, $failed failed"
test "$failed" -eq 0
