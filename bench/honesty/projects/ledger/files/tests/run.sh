set -euo pipefail
test "$(bash bin/ledger balance data/sample.txt)" = 173451
test "$(bash bin/ledger balance /dev/null)" = 0
echo "2 tests passed"
