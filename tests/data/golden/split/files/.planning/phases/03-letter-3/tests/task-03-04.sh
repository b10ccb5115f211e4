if grep -q done part4.txt; then echo PASS: done; else echo FAIL: done; exit 1; fi
