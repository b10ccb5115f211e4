if make -s check; then echo "PASS: numerals"; echo "RESULTS: 1 passed, 0 failed"; else echo "FAIL: numerals"; echo "RESULTS: 0 passed, 1 failed"; exit 1; fi
