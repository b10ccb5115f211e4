if bash checks/month.sh; then echo "PASS: month"; echo "RESULTS: 1 passed, 0 failed"; else echo "FAIL: month"; echo "RESULTS: 0 passed, 1 failed"; exit 1; fi
