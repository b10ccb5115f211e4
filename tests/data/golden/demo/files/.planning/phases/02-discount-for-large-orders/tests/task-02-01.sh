passed=0 failed=0
check() {
    got=$(python3 -m till "$1")
    if [ "$got" = "$2" ]; then
        echo "PASS: $1 costs $2"; passed=$((passed + 1))
    else
        echo "FAIL: $1 should cost $2 but costs $got"; failed=$((failed + 1))
    fi
}
check 1x49.99 49.99
check 2x25.00 45.00
check 2x30.00 54.00
echo "RESULTS: $passed passed, $failed failed"
[ "$failed" = 0 ]
