if python3 -m pytest -q -p no:cacheprovider tests/test_search.py; then
  echo "PASS: the tests of the search"; echo "RESULTS: 1 passed, 0 failed"
else
  echo "FAIL: the tests of the search"; echo "RESULTS: 0 passed, 1 failed"; exit 1
fi
