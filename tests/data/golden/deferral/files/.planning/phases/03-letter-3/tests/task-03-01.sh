if grep -q done letter3.txt; then echo PASS: done; else echo FAIL: done; exit 1; fi
