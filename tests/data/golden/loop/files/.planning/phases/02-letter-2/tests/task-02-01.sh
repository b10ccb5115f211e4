if grep -q done letter2.txt; then echo PASS: done; else echo FAIL: done; exit 1; fi
