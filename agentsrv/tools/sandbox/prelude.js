// The prelude gives the sandbox its console and timers, and reports what became of the code. It keeps what it needs of
// the language in constants before the user's code runs, so that code which replaces JSON.stringify or puts things on
// prototypes changes nothing but itself. Functions whose names begin with $ are left out of stack traces.
(function $prelude(cap) {
  const host = globalThis.$host;
  delete globalThis.$host;
  const { stringify } = JSON;
  const { apply } = Reflect;
  const { then } = Promise.prototype;
  const { slice } = String.prototype;
  const { now } = Date;
  const { defineProperty } = Object;
  const asText = String, number = Number, isFinite = Number.isFinite;
  const AnyError = Error, Wrong = TypeError;
  const functionText = Function.prototype.toString;
  const bare = (o) => ({ __proto__: null, ...o });

  // JSON has no big integers: they become strings of digits.
  const replacer = (key, value) => (typeof value === "bigint" ? asText(value) : value);
  const cut = (text) => (text.length > cap ? apply(slice, text, [0, cap]) : text);

  function $inspect(v) {
    switch (typeof v) {
      case "string": return v;
      case "bigint": return asText(v) + "n";
      case "function": return "[function " + asText(v.name) + "]";
      case "object":
        if (v === null) return "null";
        if (v instanceof AnyError) return $describe(v).join("");
        try {
          return stringify(v, replacer);
        } catch (e) {
          return "[object that JSON cannot hold: " + asText(e && e.message) + "]";
        }
    }
    return asText(v);
  }

  // $describe is [name, message, stack] of anything that was thrown.
  function $describe(e) {
    const out = ["Error", "", ""];
    out.join = () => out[0] + (out[1] && ": " + out[1]) + (out[2] && "\n" + out[2]);
    try {
      if (typeof e === "object" && e !== null && (e instanceof AnyError || typeof e.message === "string")) {
        out[0] = cut(asText(e.name === undefined ? "Error" : e.name));
        out[1] = cut(asText(e.message));
        out[2] = typeof e.stack === "string" ? cut(e.stack) : "";
      } else {
        out[1] = "the code threw " + (typeof e === "string" ? stringify(e) : cut($inspect(e)));
      }
    } catch {
      out[1] = "the code threw something that cannot be described";
    }
    return out;
  }

  let full = false; // the host takes no more output
  const console = {};
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    console[level] = function $console(...args) {
      let text = "";
      for (let i = 0; i < args.length && !full && text.length <= cap; i++) {
        text += (i ? " " : "") + cut($inspect(args[i]));
      }
      if (!full) full = host("console", level, cut(text));
    };
  }
  defineProperty(globalThis, "console", bare({ value: console, writable: true, configurable: true, enumerable: false }));

  let first = null, lastID = 0; // pending timers, soonest first
  const timers = {
    setTimeout: function $setTimeout(f, ms, ...args) {
      if (typeof f !== "function") throw new Wrong("setTimeout needs a function");
      ms = number(ms);
      const t = bare({ id: ++lastID, at: now() + (ms > 0 && isFinite(ms) ? ms : 0), f, args, next: null });
      if (first === null || t.at < first.at) {
        t.next = first;
        first = t;
      } else {
        let p = first;
        while (p.next !== null && p.next.at <= t.at) p = p.next;
        t.next = p.next;
        p.next = t;
      }
      return t.id;
    },
    clearTimeout: function $clearTimeout(id) {
      for (let p = first, before = null; p !== null; before = p, p = p.next) {
        if (p.id !== id) continue;
        if (before === null) first = p.next;
        else before.next = p.next;
        return;
      }
    },
  };
  for (const name of ["setTimeout", "clearTimeout"]) {
    defineProperty(globalThis, name, bare({ value: timers[name], writable: true, configurable: true, enumerable: false }));
  }

  const end = bare({ state: "pending", value: undefined, ran: false }); // ran: the code itself came to its end
  const fail = (e) => {
    if (end.state === "failed") return;
    end.state = "failed";
    end.value = e;
  };

  // $settle takes the completion value; for a promise, such as that of an async function called last, what becomes of it.
  const $settle = (v) => {
    if (end.state !== "pending") return;
    if (typeof v === "object" && v !== null) {
      try {
        apply(then, v, [$settle, fail]); // throws for all that is no promise
        return;
      } catch {}
    }
    end.state = "done";
    end.value = v;
  };

  return bare({
    // watch waits for the promise that evaluating the code made: of an object with the completion value.
    watch: function $watch(promise) {
      apply(then, promise, [(v) => { end.ran = true; $settle(v.value); }, fail]);
    },
    // next is how many milliseconds the first timer is away, -1 if there is none.
    next: function $next() {
      if (first === null) return -1;
      const wait = first.at - now();
      return wait > 0 ? wait : 0;
    },
    fire: function $fire() {
      const t = first;
      first = t.next;
      try {
        apply(t.f, undefined, t.args);
      } catch (e) {
        fail(e);
      }
    },
    finish: function $finish() {
      if (end.state === "pending") {
        host("pending", end.ran ? "ran" : "");
        return;
      }
      if (end.state === "done") {
        const v = end.value, type = typeof v;
        try {
          let text;
          if (type === "symbol") text = stringify(asText(v));
          else if (type === "function") text = stringify(apply(functionText, v, []));
          else if (type === "number" && !isFinite(v)) text = stringify(asText(v));
          else text = stringify(v, replacer);
          // One more than the cap, so that the host sees that there was more.
          if (text === undefined) host("result", type, "", 0);
          else host("result", type, text.length > cap ? apply(slice, text, [0, cap + 1]) : text, text.length);
          return;
        } catch (e) {
          const d = $describe(e);
          host("error", d[0], "the result cannot be written as JSON: " + d[1], d[2]);
          return;
        }
      }
      const d = $describe(end.value);
      host("error", d[0], d[1], d[2]);
    },
  });
})
