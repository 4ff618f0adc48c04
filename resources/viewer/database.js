// Read-only database in memory, as core/runs/connection.py has it: SQLite may do no more than
// SELECT, with limits on lengths and on work, and the schema must be the expected one.

import { FileError, damaged, printable } from "./text.js";

const OPS_PER_TICK = 10_000;
const MAX_TICKS = 3_000; // 3e7 operations; reading a whole run takes under 1e6
const MAX_SCHEMA_ROWS = 100;
const MAX_TEXT_BYTES = 8 << 20;
export const MAX_BLOB_BYTES = 2 ** 30;
const JOURNAL = 18; // bytes 18 and 19 are 2 in a file in WAL mode
const FUNCTIONS = ["count", "length", "typeof"];
const LIMITS = {
  SQLITE_LIMIT_SQL_LENGTH: 10_000,
  SQLITE_LIMIT_COLUMN: 32,
  SQLITE_LIMIT_EXPR_DEPTH: 32,
  SQLITE_LIMIT_COMPOUND_SELECT: 2,
  SQLITE_LIMIT_VDBE_OP: 10_000,
  SQLITE_LIMIT_FUNCTION_ARG: 8,
  SQLITE_LIMIT_ATTACHED: 0,
  SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
  SQLITE_LIMIT_VARIABLE_NUMBER: 16,
  SQLITE_LIMIT_TRIGGER_DEPTH: 0,
  SQLITE_LIMIT_WORKER_THREADS: 0,
};
const PRAGMAS = ["query_only=ON", "trusted_schema=OFF", "cell_size_check=ON"];

// SQL for a column's value if it has a type, else NULL, without reading it.
export function typed(column, kind) {
  return `CASE typeof(${column}) WHEN '${kind}' THEN ${column} END`;
}

export class Database {
  // The bytes of a file, the name by which it is shown, and the rows of its schema.
  constructor(sqlite3, bytes, name, rules) {
    Object.assign(this, { sqlite3, name, rules, ticks: 0 });
    this.decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    this.journal = bytes[JOURNAL] === 2 && bytes[JOURNAL + 1] === 2;
    if (this.journal) {
      // A database in memory has no journal; this is the recorder's copy, not the reader's file.
      bytes[JOURNAL] = 1;
      bytes[JOURNAL + 1] = 1;
    }
    this.database = new sqlite3.oo1.DB(":memory:");
    this.guard(() => this.load(bytes));
    this.guard(() => this.restrict());
    this.checkHeader();
    this.checkSchema();
  }

  load(bytes) {
    const { capi, wasm } = this.sqlite3;
    const place = wasm.allocFromTypedArray(bytes);
    const flags = capi.SQLITE_DESERIALIZE_FREEONCLOSE | capi.SQLITE_DESERIALIZE_READONLY;
    const { pointer } = this.database;
    const size = bytes.byteLength;
    this.database.checkRc(capi.sqlite3_deserialize(pointer, "main", place, size, size, flags));
  }

  restrict() {
    const { capi } = this.sqlite3;
    const { pointer } = this.database;
    for (const [name, value] of Object.entries(LIMITS)) capi.sqlite3_limit(pointer, capi[name], value);
    capi.sqlite3_limit(pointer, capi.SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES);
    capi.sqlite3_progress_handler(pointer, OPS_PER_TICK, () => {
      this.ticks += 1;
      return this.ticks > MAX_TICKS ? 1 : 0;
    }, 0);
    for (const pragma of PRAGMAS) this.database.exec(`PRAGMA ${pragma}`);
  }

  checkHeader() {
    const number = (pragma) => this.guard(() => this.database.selectValue(`PRAGMA ${pragma}`));
    const { application, version } = this.rules;
    if (number("application_id") !== application) {
      throw new FileError(
        `${this.name} is a database of another program, not a run file; open a file that ` +
          "Marginscope has recorded.",
      );
    }
    const stored = number("user_version");
    if (stored > version) {
      throw new FileError(
        `${this.name} was written by a newer version of Marginscope (run format ${stored}; this ` +
          `page reads up to ${version}); open it in a newer version of this page.`,
      );
    }
    if (stored < 1) throw damaged(this.name, `its run format is ${stored}`);
  }

  checkSchema() {
    const { capi } = this.sqlite3;
    capi.sqlite3_set_authorizer(this.database.pointer, (_, action, first, second) => {
      if (action === capi.SQLITE_SELECT || action === capi.SQLITE_READ) return capi.SQLITE_OK;
      const allowed = action === capi.SQLITE_FUNCTION && FUNCTIONS.includes(second);
      return allowed ? capi.SQLITE_OK : capi.SQLITE_DENY;
    }, 0);
    const columns = "type, name, tbl_name, sql, rootpage";
    const rows = this.rows(`SELECT ${columns} FROM sqlite_schema LIMIT ${MAX_SCHEMA_ROWS}`);
    const known = new Set(this.rules.schema.map((row) => JSON.stringify(row)));
    const same = rows.every((row) => known.has(JSON.stringify(row.slice(0, 4).map(asText))));
    if (rows.length !== known.size || !same) {
      throw this.fault("its tables are not exactly those of a run file");
    }
    const roots = new Set(rows.map((row) => String(row[4])));
    if (roots.size !== rows.length) throw this.fault("two of its tables share their pages");
  }

  fault(what) {
    if (this.journal && what.startsWith("its tables")) {
      return new FileError(
        `${this.name} was not closed, and its frames are in the file ${this.name}-wal beside it, ` +
          "which this page cannot read; open the run in Marginscope once, and then here.",
      );
    }
    return damaged(this.name, what);
  }

  guard(act) {
    try {
      return act();
    } catch (error) {
      throw this.sentence(error);
    }
  }

  sentence(error) {
    if (error instanceof FileError) return error;
    const { capi, WasmAllocError, SQLite3Error } = this.sqlite3;
    if (error instanceof WasmAllocError || error instanceof RangeError) {
      return this.fault("a value is larger than this machine's memory");
    }
    if (error instanceof TypeError && /decod|encoded/i.test(error.message)) {
      return this.fault("a text is not UTF-8");
    }
    if (!(error instanceof SQLite3Error)) return error;
    const code = error.resultCode & 0xff;
    if (code === capi.SQLITE_NOTADB && this.name.endsWith(".msrun")) {
      return damaged(this.name, "it does not begin as one");
    }
    if (code === capi.SQLITE_NOTADB) {
      return new FileError(`${this.name} is not a run file; run files end in .msrun.`);
    }
    if (code === capi.SQLITE_NOMEM) return this.fault("a value is larger than this machine's memory");
    if (code === capi.SQLITE_INTERRUPT) return this.fault("reading takes longer than for any run file");
    if (code === capi.SQLITE_TOOBIG) return this.fault("a value is longer than allowed");
    const words = error.message.replace(/^SQLITE_\w+: (?:sqlite3 result code \d+: )?/, "");
    return this.fault(printable(words).slice(0, 200));
  }

  // The rows of one SELECT, which refuses values longer than `longest` bytes.
  rows(sql, parameters = [], longest = MAX_TEXT_BYTES) {
    return [...this.each(sql, parameters, longest)];
  }

  *each(sql, parameters = [], longest = MAX_TEXT_BYTES) {
    const { capi } = this.sqlite3;
    this.ticks = 0;
    capi.sqlite3_limit(this.database.pointer, capi.SQLITE_LIMIT_LENGTH, longest);
    const statement = this.guard(() => this.database.prepare(sql));
    try {
      if (parameters.length) this.guard(() => statement.bind(parameters));
      const count = statement.columnCount;
      while (this.guard(() => statement.step())) {
        yield this.guard(() => Array.from({ length: count }, (_, k) => this.column(statement, k)));
      }
    } finally {
      statement.finalize();
    }
  }

  column(statement, k) {
    const { capi, wasm } = this.sqlite3;
    const { pointer } = statement;
    const kind = capi.sqlite3_column_type(pointer, k);
    if (kind === capi.SQLITE_NULL) return null;
    if (kind === capi.SQLITE_INTEGER) return capi.sqlite3_column_int64(pointer, k);
    if (kind === capi.SQLITE_FLOAT) return capi.sqlite3_column_double(pointer, k);
    const isText = kind === capi.SQLITE_TEXT;
    const read = isText ? wasm.exports.sqlite3_column_text : wasm.exports.sqlite3_column_blob;
    const place = Number(read(pointer, k));
    const size = capi.sqlite3_column_bytes(pointer, k);
    if (!place && size) throw new RangeError("no memory");
    const bytes = wasm.heap8u().slice(place, place + size);
    return isText ? this.decoder.decode(bytes) : bytes;
  }

  close() {
    this.database.close();
  }
}

function asText(value) {
  return typeof value === "bigint" ? Number(value) : value;
}
