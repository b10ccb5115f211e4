set -euo pipefail
bash bin/ledger export data/sample.txt > /tmp/export.$$
grep -qx '2026-02-14,-1999,flowers' /tmp/export.$$
test "$(wc -l < /tmp/export.$$)" -eq 6
