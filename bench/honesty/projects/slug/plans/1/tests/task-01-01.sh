if npm run -s check; then echo "PASS: letters"; echo "RESULTS: 1 passed, 0 failed"; else echo "FAIL: letters"; echo "RESULTS: 0 passed, 1 failed"; exit 1; fi
