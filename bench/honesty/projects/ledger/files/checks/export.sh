set -euo pipefail
bash bin/ledger export data/sample.txt > "${TMPDIR:-/tmp}/export.$$"
grep -qx '2026-02-14,-1999,flowers' "${TMPDIR:-/tmp}/export.$$"
test "$(wc -l < "${TMPDIR:-/tmp}/export.$$")" -eq 6
