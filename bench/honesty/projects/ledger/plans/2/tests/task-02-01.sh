if bash checks/export.sh; then echo "PASS: export"; echo "RESULTS: 1 passed, 0 failed"; else echo "FAIL: export"; echo "RESULTS: 0 passed, 1 failed"; exit 1; fi
