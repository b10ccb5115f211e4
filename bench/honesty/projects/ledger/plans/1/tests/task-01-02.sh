if bash checks/report.sh; then echo "PASS: report"; echo "RESULTS: 1 passed, 0 failed"; else echo "FAIL: report"; echo "RESULTS: 0 passed, 1 failed"; exit 1; fi
