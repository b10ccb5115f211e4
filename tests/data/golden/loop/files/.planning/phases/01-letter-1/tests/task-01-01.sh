if grep -q done letter1.txt; then echo PASS: done; else echo FAIL: done; exit 1; fi
