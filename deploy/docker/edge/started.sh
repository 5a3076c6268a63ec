#!/bin/bash
# Succeeds if a replica of every service has passed a health check, or if ten seconds have passed since the
# start. If a service is down, the edge therefore serves the other services.
. /usr/local/bin/ready.sh && exit
read -r now _ </proc/uptime
stat=$(</proc/1/stat)
# The fields after the process name. The twentieth is the start of the process, in hundredths of a second
# since boot.
read -ra fields <<<"${stat##*) }"
((${now%.*} - fields[19] / 100 >= 10))
