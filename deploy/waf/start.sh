#!/bin/bash
# Writes the settings of the environment for nginx and ModSecurity, and starts nginx as the process that
# receives the stop signal.
#
#   EDGE_URL              the edge (default http://edge:8080). It must serve plain http.
#   WAF_TRUSTED_PROXIES   networks (CIDR, separated by spaces) of the proxies in front, whose X-Forwarded-For is
#                         trusted.
#   WAF_PARANOIA_LEVEL    1 to 4 (default 1): a higher level has more rules, and refuses more by mistake.
#   WAF_ANOMALY_THRESHOLD the score from which a request is refused (default 5, one critical rule).
set -eu
mkdir -p /tmp/waf
# The page of the edge's own answers, up to <main>. haproxy.cfg is its only source.
edge_text() { sed -n "s/^ *set-var-fmt proc\.$1 '\(.*\)'$/\1/p" /etc/waf/haproxy.cfg | sed 's/%%/%/g'; }
style=$(edge_text style)
page=$(edge_text page)
page=${page/'%[var(proc.style)]'/"$style"}
page=${page/'%[var(proc.mark)]'/"$(edge_text mark)"}
hash=$(printf '%b' "$(printf %s "$style" | sha256sum | cut -c1-64 | sed 's/../\\x&/g')" | base64)
{
    echo "map '' \$page { default '$page'; }"
    echo "map '' \$style_hash { default '$hash'; }"
    echo "resolver $(awk '/^nameserver/ { print ($2 ~ /:/) ? "[" $2 "]" : $2; exit }' /etc/resolv.conf) valid=5s;"
    echo "map '' \$edge { default '${EDGE_URL:-http://edge:8080}'; }"
    for network in ${WAF_TRUSTED_PROXIES:-}; do echo "set_real_ip_from $network;"; done
} > /tmp/waf/settings.conf
level=${WAF_PARANOIA_LEVEL:-1}
threshold=${WAF_ANOMALY_THRESHOLD:-5}
if ! [[ $level =~ ^[1-4]$ && $threshold =~ ^[1-9][0-9]*$ ]]; then
    echo 'WAF_PARANOIA_LEVEL must be 1 to 4, and WAF_ANOMALY_THRESHOLD a positive integer' >&2
    exit 1
fi
echo "SecAction \"id:10001,phase:1,pass,nolog,t:none,setvar:tx.paranoia_level=$level,setvar:tx.inbound_anomaly_score_threshold=$threshold\"" > /tmp/waf/modsecurity-settings.conf

# ModSecurity's messages contain the address and the matched text. Prints only the number of the rule and the
# identifier of the request. Startup errors contain neither address nor matched text.
exec nginx -c /etc/waf/nginx.conf 2> >(sed -u -nE \
    -e 's/.*ModSecurity: .*\[id "([0-9]+)"\].*\[unique_id "([0-9a-f]+)"\].*/{"level":40,"service":"waf","requestId":"\2","rule":\1}/p' \
    -e '/\[emerg\]/p' >&2)
