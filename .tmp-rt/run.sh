export RESTATE_INGRESS__BIND_PORT=18080 RESTATE_ADMIN__BIND_PORT=19070 RESTATE_BIND_PORT=15122
rm -rf data; ../node_modules/@restatedev/restate-server-linux-x64/bin/restate-server --node-name n1 --base-dir ./data --no-logo > server.log 2>&1 & SRV=$!
sleep 2
DIE=$1 PORT=19080 node svc.mjs > svc.log 2>&1 & S1=$!
sleep 1.5
curl -s -XPOST localhost:19070/deployments -H 'content-type: application/json' -d '{"uri":"http://localhost:19080"}' | head -c 200; echo
(time curl -s -XPOST localhost:18080/svc/go -H 'content-type: application/json' -d '1') > out.log 2>&1 & C=$!
if [ -n "$1" ]; then wait $S1; PORT=19080 node svc.mjs >> svc.log 2>&1 & S1=$!; fi
wait $C; cat out.log; cat svc.log
kill $S1 $SRV
