BEGIN TRANSACTION;
CREATE TABLE events (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    data TEXT,
    file TEXT,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;
INSERT INTO "events" VALUES(1,1,1.79480828822258067127e+09,'RunStarted','{"run_id":"2ph6b0-p9dtb","recipe":"old","version":"1.0.0","steps":7}',NULL);
INSERT INTO "events" VALUES(1,2,1.79480828824039936059e+09,'StepStarted','{"identity":"greet","step_id":"greet","kind":"bash","title":"greet","recipe":"old","depth":0,"number":1,"of":7,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,3,1.79480828837556385989e+09,'ProcessStarted','{"identity":"greet","pid":29907,"started":"1501465"}',NULL);
INSERT INTO "events" VALUES(1,4,1.79480828840310835834e+09,'OutputStored','{"identity":"greet","values":{"greet":"hello world"},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,5,1.79480828840344667435e+09,'StepFinished','{"result":{"step_id":"greet","status":"completed","output":"hello world","error":"","type":"bash","identity":"greet","stderr":"","exit_code":0,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.16266},"recipe":"old","depth":0}',NULL);
INSERT INTO "events" VALUES(1,6,1.79480828841492342953e+09,'StepStarted','{"identity":"both","step_id":"both","kind":"bash","title":"both","recipe":"old","depth":0,"number":2,"of":7,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,7,1.79480828844358253479e+09,'ProcessStarted','{"identity":"both","pid":29913,"started":"1501473"}',NULL);
INSERT INTO "events" VALUES(1,8,1.79480828844385147092e+09,'StepStarted','{"identity":"sides","step_id":"sides","kind":"bash","title":"sides","recipe":"old","depth":0,"number":3,"of":7,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,9,1.79480828848116707799e+09,'ProcessStarted','{"identity":"sides","pid":29919,"started":"1501476"}',NULL);
INSERT INTO "events" VALUES(1,10,1.79480828848220396037e+09,'OutputStored','{"identity":"both","values":{"both":"left"},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,11,1794808288.48239,'StepFinished','{"result":{"step_id":"both","status":"completed","output":"left","error":"","type":"bash","identity":"both","stderr":"","exit_code":0,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.067218},"recipe":"old","depth":0}',NULL);
INSERT INTO "events" VALUES(1,12,1.79480828851392745977e+09,'OutputStored','{"identity":"sides","values":{"sides":"right"},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,13,1.79480828851409769057e+09,'StepFinished','{"result":{"step_id":"sides","status":"completed","output":"right","error":"","type":"bash","identity":"sides","stderr":"","exit_code":0,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.069329},"recipe":"old","depth":0}',NULL);
INSERT INTO "events" VALUES(1,14,1.79480828853007888792e+09,'StepStarted','{"identity":"call","step_id":"call","kind":"recipe","title":"call","recipe":"old","depth":0,"number":4,"of":7,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,15,1.79480828853106307982e+09,'RecipeEntered','{"identity":"call","recipe":"child","steps":2,"depth":1,"path":"@HERE@/child.yaml"}',NULL);
INSERT INTO "events" VALUES(1,16,1.79480828855133461947e+09,'StepStarted','{"identity":"call/inner","step_id":"inner","kind":"bash","title":"inner","recipe":"child","depth":1,"number":1,"of":2,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,17,1.7948082885809130668e+09,'ProcessStarted','{"identity":"call/inner","pid":29942,"started":"1501487"}',NULL);
INSERT INTO "events" VALUES(1,18,1.79480828858183813099e+09,'OutputStored','{"identity":"call/inner","values":{"inner":"inside"},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,19,1.79480828858201479913e+09,'StepFinished','{"result":{"step_id":"inner","status":"completed","output":"inside","error":"","type":"bash","identity":"call/inner","stderr":"","exit_code":0,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.030341},"recipe":"child","depth":1}',NULL);
INSERT INTO "events" VALUES(1,20,1.79480828862757444382e+09,'StepStarted','{"identity":"call/each","step_id":"each","kind":"bash","title":"each","recipe":"child","depth":1,"number":2,"of":2,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,21,1.79480828862783527372e+09,'IterationStarted','{"identity":"call/each","index":0,"of":2}',NULL);
INSERT INTO "events" VALUES(1,22,1.794808288683381319e+09,'ProcessStarted','{"identity":"call/each[0]","pid":29952,"started":"1501495"}',NULL);
INSERT INTO "events" VALUES(1,23,1.79480828868391728394e+09,'LinesPrinted','{"identity":"call/each[0]","stream":"stdout","lines":["1"]}',NULL);
INSERT INTO "events" VALUES(1,24,1.79480828871163415908e+09,'OutputStored','{"identity":"call/each[0]","values":{"each":1},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,25,1.79480828871193814283e+09,'IterationFinished','{"result":{"step_id":"each[0]","status":"completed","output":"1","error":"","type":"bash","identity":"call/each[0]","stderr":"","exit_code":0,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.083786}}',NULL);
INSERT INTO "events" VALUES(1,26,1.79480828872770118709e+09,'IterationStarted','{"identity":"call/each","index":1,"of":2}',NULL);
INSERT INTO "events" VALUES(1,27,1.794808288803579092e+09,'ProcessStarted','{"identity":"call/each[1]","pid":29975,"started":"1501504"}',NULL);
INSERT INTO "events" VALUES(1,28,1.79480828880464577668e+09,'OutputStored','{"identity":"call/each[1]","values":{"each":2},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,29,1.7948082888047983646e+09,'IterationFinished','{"result":{"step_id":"each[1]","status":"completed","output":"2","error":"","type":"bash","identity":"call/each[1]","stderr":"","exit_code":0,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.076879}}',NULL);
INSERT INTO "events" VALUES(1,30,1.79480828882362270348e+09,'OutputStored','{"identity":"call/each","values":{"each":2,"collected":[1,2]},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,31,1.79480828882370305058e+09,'OutputStored','{"identity":"call/each","values":{"each":2,"collected":[1,2]},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,32,1.79480828882386422157e+09,'StepFinished','{"result":{"step_id":"each","status":"completed","output":"2","error":"","type":"bash","identity":"call/each","stderr":"","exit_code":null,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":2,"duration":0.196042},"recipe":"child","depth":1}',NULL);
INSERT INTO "events" VALUES(1,33,1.79480828883992958068e+09,'OutputStored','{"identity":"call","values":{"call":"Recipe ''child'': SUCCESS\n  [completed] inner (0.0s)\n  [completed] each (0.2s)","inner":"inside","each":2,"collected":[1,2]},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,34,1.79480828884013342856e+09,'StepFinished','{"result":{"step_id":"call","status":"completed","output":"Recipe ''child'': SUCCESS\n  [completed] inner (0.0s)\n  [completed] each (0.2s)","error":"","type":"recipe","identity":"call","stderr":"","exit_code":null,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":3,"duration":0.309755},"recipe":"old","depth":0}',NULL);
INSERT INTO "events" VALUES(1,35,1.79480828885853052135e+09,'StepStarted','{"identity":"large","step_id":"large","kind":"bash","title":"large","recipe":"old","depth":0,"number":5,"of":7,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,36,1.79480828886753749846e+09,'ProcessStarted','{"identity":"large","pid":29982,"started":"1501518"}',NULL);
INSERT INTO "events" VALUES(1,37,1.79480828896995544437e+09,'OutputStored','{"identity":"large","values":{"large":{"\u0000file":"42e8bc96b8eec8c4e5d503483ba0cb843ce95243c8ca8575ffc69cd25d12c61c"}},"ledger":{}}',NULL);
INSERT INTO "events" VALUES(1,38,1.79480828897060561179e+09,'StepFinished','{"result":{"step_id":"large","status":"completed","output":{"\u0000file":"42e8bc96b8eec8c4e5d503483ba0cb843ce95243c8ca8575ffc69cd25d12c61c"},"error":"","type":"bash","identity":"large","stderr":"","exit_code":0,"attempts":1,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.111432},"recipe":"old","depth":0}',NULL);
INSERT INTO "events" VALUES(1,39,1.79480828897147870058e+09,'GateReached','{"stage":"build","prompt":"ship hello world?","identity":"build","due":null}',NULL);
INSERT INTO "events" VALUES(1,40,1.79480828901381087307e+09,'RunFinished','{"result":{"run_id":"2ph6b0-p9dtb","recipe_name":"old","success":false,"status":"waiting","step_results":[],"error":"stage ''build'' waits for a person''s approval, and there is no terminal to ask on; answer with `amplihack runs approve 2ph6b0-p9dtb` or `amplihack runs deny 2ph6b0-p9dtb`, then `amplihack runs resume 2ph6b0-p9dtb`; --yes approves every gate","warnings":[],"counts":{"completed":0,"skipped":0,"degraded":0,"failed":0,"failed_allowed":0,"never_reached":2},"never_reached":["flaky","end"],"usage":null,"cost_usd":null,"context":{"who":"world","token":"***","greet":"hello world","both":"left","sides":"right","call":"Recipe ''child'': SUCCESS\n  [completed] inner (0.0s)\n  [completed] each (0.2s)","inner":"inside","each":2,"collected":[1,2],"large":{"\u0000file":"42e8bc96b8eec8c4e5d503483ba0cb843ce95243c8ca8575ffc69cd25d12c61c"}},"duration":0.790702}}',NULL);
INSERT INTO "events" VALUES(1,41,1.79480829111898970611e+09,'GateDecided','{"stage":"build","approved":true,"message":"ok","identity":"build","by":"somebody","at":1794808291.1188056}',NULL);
INSERT INTO "events" VALUES(1,42,1.79480829325951957708e+09,'RunStarted','{"run_id":"2ph6b0-p9dtb","recipe":"old","version":"1.0.0","steps":7}',NULL);
INSERT INTO "events" VALUES(1,43,1.79480829330062460896e+09,'StepStarted','{"identity":"flaky","step_id":"flaky","kind":"bash","title":"flaky","recipe":"old","depth":0,"number":6,"of":7,"idempotent":true}',NULL);
INSERT INTO "events" VALUES(1,44,1.79480829341956448557e+09,'ProcessStarted','{"identity":"flaky","pid":30188,"started":"1501972"}',NULL);
INSERT INTO "events" VALUES(1,45,1.79480829342076516155e+09,'Retrying','{"identity":"flaky","attempt":2,"of":2,"delay":0.0,"reason":"bash step failed: Command failed (exit 1)","due":1794808293.4206746,"spent":{"executed":0,"usage":null,"cost_usd":null}}',NULL);
INSERT INTO "events" VALUES(1,46,1.79480829347553563117e+09,'ProcessStarted','{"identity":"flaky","pid":30190,"started":"1501976"}',NULL);
INSERT INTO "events" VALUES(1,47,1.79480829347647547725e+09,'StepFinished','{"result":{"step_id":"flaky","status":"failed","output":"","error":"Step ''flaky'' failed: bash step failed: Command failed (exit 1)","type":"bash","identity":"flaky","stderr":"","exit_code":1,"attempts":2,"warnings":[],"usage":null,"cost_usd":null,"executed":1,"duration":0.175564},"recipe":"old","depth":0}',NULL);
INSERT INTO "events" VALUES(1,48,1.79480829363425064084e+09,'RunFinished','{"result":{"run_id":"2ph6b0-p9dtb","recipe_name":"old","success":false,"status":"failed","step_results":[],"error":"","warnings":[],"counts":{"completed":0,"skipped":0,"degraded":0,"failed":0,"failed_allowed":0,"never_reached":1},"never_reached":["end"],"usage":null,"cost_usd":null,"context":{"who":"world","token":"***","greet":"hello world","both":"left","sides":"right","call":"Recipe ''child'': SUCCESS\n  [completed] inner (0.0s)\n  [completed] each (0.2s)","inner":"inside","each":2,"collected":[1,2],"large":{"\u0000file":"42e8bc96b8eec8c4e5d503483ba0cb843ce95243c8ca8575ffc69cd25d12c61c"},"_approval_message":"ok"},"duration":0.374225}}',NULL);
CREATE TABLE recipes (
    run INTEGER NOT NULL,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    stored TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (run, path)
) WITHOUT ROWID;
INSERT INTO "recipes" VALUES(1,'@HERE@/child.yaml','04a43a4695b7c2f69029459617f37c39149694e05ff21078cf65cb1148bb6130','04a43a4695b7c2f69029459617f37c39149694e05ff21078cf65cb1148bb6130',1.79480828853097724917e+09);
INSERT INTO "recipes" VALUES(1,'@HERE@/main.yaml','f321a3b51c9ecc58c886983a34ccd78c82b931c4cc46f88a4b0d556edc148bec','f321a3b51c9ecc58c886983a34ccd78c82b931c4cc46f88a4b0d556edc148bec',1.79480829321668434138e+09);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    recipe TEXT NOT NULL,
    path TEXT,
    working_dir TEXT NOT NULL,
    status TEXT NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    cost_usd REAL,
    forked_from TEXT,
    request TEXT NOT NULL,
    inputs TEXT NOT NULL,
    owner TEXT,
    cancelled TEXT
);
INSERT INTO "runs" VALUES(1,'2ph6b0-p9dtb','old','@HERE@/main.yaml','@HERE@','failed',1.79480828819542956352e+09,1.79480829363443589209e+09,NULL,NULL,'{"agent":null,"strict":false,"strict_vars":false,"strict_agents":false,"auto_stage":true,"isolate_agents":false,"max_parallel":50,"max_agents":8,"step_timeout":null,"approve_all":false,"include_tags":[],"exclude_tags":[],"recipe_dirs":[],"adapter":null}','{"values":{},"left_out":["token"]}','{"pid": 30123, "started": "1501763", "boot": "another", "host": "elsewhere", "since": 1794808293.2601204}',NULL);
CREATE TABLE texts (
    sha256 TEXT PRIMARY KEY,
    text TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "texts" VALUES('04a43a4695b7c2f69029459617f37c39149694e05ff21078cf65cb1148bb6130','"name: child\nsteps:\n  - {id: inner, command: echo inside}\n  - {id: each, foreach: [1, 2], collect: collected, command: ''echo {{item}}''}\n"');
INSERT INTO "texts" VALUES('f321a3b51c9ecc58c886983a34ccd78c82b931c4cc46f88a4b0d556edc148bec','"name: old\ncontext: {who: world}\nsecrets: [token]\ninputs: [{name: token}]\nstages:\n  - name: build\n    steps:\n      - {id: greet, command: ''echo \"hello {{who}}\"''}\n      - {id: both, parallel_group: g, command: echo left}\n      - {id: sides, parallel_group: g, command: echo right}\n      - {id: call, recipe: ./child.yaml}\n      - {id: large, command: ''head -c 20000 /dev/zero | tr \"\\0\" x''}\n    approval: {prompt: ''ship {{greet}}?''}\n  - name: ship\n    steps:\n      - {id: flaky, retry: {max_attempts: 2, initial_delay: 0}, command: ''test -e fixed && echo \"{{_approval_message}} {{collected}}\"''}\n      - {id: end, command: ''echo \"{{greet}} {{inner}}\"'', idempotent: false}\n"');
CREATE INDEX runs_by_start ON runs (started, number);
COMMIT;
PRAGMA user_version = 1;
