if make -s verify; then echo "PASS: leap years"; echo "RESULTS: 1 passed, 0 failed"; else echo "FAIL: leap years"; echo "RESULTS: 0 passed, 1 failed"; exit 1; fi
