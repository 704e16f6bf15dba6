# Builtins of jq that can make, in one step, much more than they are given. Nothing can stop a step, so each is asked first what it would
# make: _room_… are functions of Go, which pass their input on or fail. Names with 0 at their end are the builtins themselves.

def _multiply(l; r): r as $r | l as $l | _room_times($l; $r) | $l * $r;
def _divide(l; r): r as $r | l as $l | (if ($l | type) == "string" then $l | _room_split($r) else . end) | $l / $r;

def _sum0: add;
def add: _room_join("") | _sum0;
def add(f): [f] | add;
def _join0($s): join($s);
def join(s): s as $s | _room_join($s) | _join0($s);

def _split0($s): split($s);
def split(s): s as $s | _room_split($s) | _split0($s);
def _indices0($s): indices($s);
def indices(s): s as $s | _room_split($s) | _indices0($s);
def _explode0: explode;
def explode: _room_split("") | _explode0;
def _fromjson0: fromjson;
def fromjson: _room_parse | _fromjson0;

def _tojson0: tojson;
def tojson: _room_text | _tojson0;
def _tostring0: tostring;
def tostring: _room_text | _tostring0;
def _format0($f): format($f);
def format(f): f as $f | _room_text | _format0($f);
def _tohtml: format("html");
def _touri: format("uri");
def _tocsv: format("csv");
def _totsv: format("tsv");
def _tosh: format("sh");
def _tobase64: format("base64");
def _flatten0: flatten;
def flatten: _room_text | _flatten0;
def _flatten0($n): flatten($n);
def flatten(n): n as $n | _room_text | _flatten0($n);

def _setpath0($p; $v): setpath($p; $v);
def setpath(p; v): v as $v | p as $p | _room_path($p) | _setpath0($p; $v);
def _assign0(p; f): p = f;
def _assign(p; f): reduce path(p) as $p (.; _room_path($p)) | _assign0(p; f);
def _modify0(p; f): p |= f;
def _modify(p; f): reduce path(p) as $p (.; _room_path($p)) | _modify0(p; f);
def pick(f): . as $v | reduce path(f) as $p (null; setpath($p; $v | getpath($p)));
def fromstream(f):
  foreach f as $pv (
    null;
    if .e then null end |
    $pv as [$p, $v] |
    if $pv | length == 2 then
      setpath(["v"] + $p; $v) | setpath(["e"]; $p | length == 0)
    else
      setpath(["e"]; $p | length == 1)
    end;
    if .e then .v else empty end
  );

def _match0($re; $flags): match($re; $flags);
def match($re; $flags): _room_match($re; $flags) | _match0($re; $flags);
def match($re): if $re | type == "array" then match($re[0]; $re[1]) else match($re; null) end;
def _capture0($re; $flags): capture($re; $flags);
def capture($re; $flags): _room_match($re; $flags) | _capture0($re; $flags);
def capture($re): if $re | type == "array" then capture($re[0]; $re[1]) else capture($re; null) end;
def _scan0($re; $flags): scan($re; $flags);
def scan($re; $flags): _room_match($re; $flags + "g") | _scan0($re; $flags);
def scan($re): scan($re; null);
def _splits0($re; $flags): splits($re; $flags);
def splits($re; $flags): _room_match($re; $flags + "g") | _splits0($re; $flags);
def splits($re): splits($re; null);
def split($re; $flags): [splits($re; $flags)];
def _sub0($re; f; $flags): sub($re; f; $flags);
def sub($re; f; $flags): _room_match($re; $flags) | _sub0($re; f; $flags);
def sub($re; f): sub($re; f; null);
def gsub($re; f; $flags): sub($re; f; $flags + "g");
def gsub($re; f): sub($re; f; "g");
