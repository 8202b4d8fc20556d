#!/usr/bin/env node
// Marks risky statements in SQL migration files. Needs no database connection.
//
// Usage: node scan_migration.mjs [--dialect postgres|mysql] [--wrapped] [--json] FILE.sql ...
//   --wrapped  the migration tool runs each file inside one transaction
//   -          as FILE reads standard input
//
// Exit codes: 0 nothing above level "check", 1 danger or warning found, 2 wrong call or
// unreadable file.
import { readFileSync } from 'node:fs'

const USAGE = 'usage: node scan_migration.mjs [--dialect postgres|mysql] [--wrapped] [--json] FILE.sql ...'
const LEVELS = ['danger', 'warning', 'check']
const VOLATILE = /\b(GEN_RANDOM_UUID|UUID_GENERATE_V\d\w*|RANDOM|CLOCK_TIMESTAMP|TIMEOFDAY|NEXTVAL|UUIDV[47])\s*\(/

function fail(message) {
  console.error(`scan_migration: ${message}`)
  process.exit(2)
}

/**
 * Splits SQL into statements. Comments are removed, and the contents of strings and
 * dollar-quoted bodies are emptied, so that rules never match inside them.
 */
function split(sql, dialect) {
  const statements = []
  let text = ''
  let line = 1
  let start = 0
  let position = 0
  let depth = 0

  const add = (part) => {
    if (!start && part.trim()) start = line
    text += part
  }
  const skipTo = (end) => {
    for (let i = position; i < end; i++) if (sql[i] === '\n') line++
    position = end
  }
  const finish = () => {
    const clean = text.replace(/\s+/g, ' ').trim()
    if (clean) statements.push({ line: start, text: clean, upper: clean.toUpperCase() })
    const copies = dialect === 'postgres' && /^COPY\b.*\bFROM STDIN\b/i.test(clean)
    text = ''
    start = 0
    depth = 0
    return copies
  }
  const problem = (what, from) => {
    throw new Error(`${what} that begins in line ${from} is never closed`)
  }

  while (position < sql.length) {
    const char = sql[position]
    const two = sql.slice(position, position + 2)
    const lineStart = position === 0 || sql[position - 1] === '\n'
    if (two === '--' || (char === '#' && dialect === 'mysql') || (char === '\\' && lineStart && !text.trim())) {
      const end = sql.indexOf('\n', position)
      skipTo(end < 0 ? sql.length : end)
    } else if (two === '/*') {
      const from = line
      let level = 0
      let i = position
      do {
        const pair = sql.slice(i, i + 2)
        if (pair === '/*' && (level === 0 || dialect === 'postgres')) level++
        else if (pair === '*/') level--
        else i--
        i += 2
        if (i > sql.length) problem('a comment', from)
      } while (level > 0)
      skipTo(i)
      add(' ')
    } else if (char === "'" || char === '"' || char === '`') {
      const from = line
      const escapes = char !== '`' && (dialect === 'mysql' || (char === "'" && /(^|[^\w])[eE]$/.test(text)))
      let i = position + 1
      for (;;) {
        if (i >= sql.length) problem(char === "'" ? 'a string' : 'a quoted name', from)
        if (escapes && sql[i] === '\\') i += 2
        else if (sql[i] === char && sql[i + 1] === char) i += 2
        else if (sql[i] === char) break
        else i++
      }
      const isName = char === '`' || (char === '"' && dialect === 'postgres')
      add(isName ? sql.slice(position + 1, i).replace(/[^\w$]/g, '_') : "''")
      skipTo(i + 1)
    } else if (char === '$' && dialect === 'postgres' && /^\$([A-Za-z_]\w*)?\$/.test(sql.slice(position, position + 70)) && !/[\w$]$/.test(text)) {
      const from = line
      const tag = /^\$([A-Za-z_]\w*)?\$/.exec(sql.slice(position, position + 70))[0]
      const end = sql.indexOf(tag, position + tag.length)
      if (end < 0) problem(`a body in ${tag}`, from)
      add("''")
      skipTo(end + tag.length)
    } else if (char === ';' && depth <= 0) {
      skipTo(position + 1)
      if (finish()) {
        const end = sql.slice(position).search(/^\\\.\s*$/m)
        skipTo(end < 0 ? sql.length : position + end)
      }
    } else {
      if (char === '(') depth++
      if (char === ')') depth--
      add(char)
      skipTo(position + 1)
    }
  }
  finish()
  return statements
}

/** Splits at commas outside parentheses. */
function actions(text) {
  const parts = ['']
  let depth = 0
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts.map((part) => part.trim()).filter(Boolean)
}

const NAME = String.raw`([\w$.]+)`
const ALTER = new RegExp(`^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?${NAME}\\s*\\*?\\s*(.*)$`)
const CREATE_TABLE = new RegExp(`^CREATE (?:(?:GLOBAL |LOCAL )?TEMP(?:ORARY)? |UNLOGGED )?TABLE (?:IF NOT EXISTS )?${NAME}`)
const CREATE_INDEX = new RegExp(`^CREATE (UNIQUE |FULLTEXT |SPATIAL )?INDEX (CONCURRENTLY )?.*?\\bON (?:ONLY )?${NAME}`)

/** Checks one action of ALTER TABLE. `fresh`: the table was created in the same file. */
function checkAction(action, fresh, dialect, report) {
  const postgres = dialect === 'postgres'
  const addsColumn = /^ADD (?!CONSTRAINT\b|PRIMARY\b|UNIQUE\b|FOREIGN\b|CHECK\b|INDEX\b|KEY\b|FULLTEXT\b|SPATIAL\b|PARTITION\b|EXCLUDE\b)/.test(action)
  if (/^DROP (COLUMN )?(?!CONSTRAINT\b|INDEX\b|KEY\b|PRIMARY\b|FOREIGN\b|CHECK\b|PARTITION\b|DEFAULT\b)/.test(action)) {
    report('danger', 'drops a column: data is lost, and running code that names it breaks. Own migration, after the code no longer uses it')
  }
  if (/^RENAME\b/.test(action) && !/^RENAME (CONSTRAINT|INDEX|KEY)\b/.test(action)) {
    report('danger', 'renames while old code is running: add new, write both, switch, remove old')
  }
  if (fresh) return
  if (addsColumn) {
    const required = /\bNOT NULL\b/.test(action) || /\bPRIMARY KEY\b/.test(action)
    const hasValue = /\bDEFAULT\b/.test(action) || /\bGENERATED\b/.test(action) || /\b(SMALL|BIG)?SERIAL\b|\bAUTO_INCREMENT\b/.test(action)
    if (required && !hasValue) {
      if (postgres) report('danger', 'adds a NOT NULL column without a default: fails as soon as the table has rows')
      else report('warning', 'adds a NOT NULL column without a default: MySQL fills in an implicit value (0, empty) unnoticed')
    }
    if (postgres && (VOLATILE.test(action) || /\b(SMALL|BIG)?SERIAL\b/.test(action) || /\bSTORED\b|\bAS IDENTITY\b/.test(action))) {
      report('danger', 'new column with a value computed per row: rewrites the table under an exclusive lock')
    }
    if (/\bREFERENCES\b/.test(action) && postgres) {
      report('warning', 'foreign key together with the new column: locks both tables. Add it separately with NOT VALID')
    }
    if (/\bUNIQUE\b/.test(action)) report('warning', 'unique column: builds an index under a lock. Create the index separately')
  }
  if (postgres) {
    if (/^ALTER (COLUMN )?(?!COLUMN )\S+ (SET DATA )?TYPE\b/.test(action)) {
      report('danger', 'changes a type: usually rewrites the table and its indexes under an exclusive lock')
    }
    if (/^ALTER (COLUMN )?\S+ SET NOT NULL\b/.test(action)) {
      report('warning', 'SET NOT NULL scans the table under an exclusive lock, unless a valid CHECK (column IS NOT NULL) exists')
    }
    if (/^ADD (CONSTRAINT \S+ )?(FOREIGN KEY|CHECK)\b/.test(action) && !/\bNOT VALID\b/.test(action)) {
      report('warning', 'constraint is checked at once under a lock: add it with NOT VALID, and VALIDATE separately')
    }
    if (/^ADD (CONSTRAINT \S+ )?(UNIQUE|PRIMARY KEY)\b/.test(action) && !/\bUSING INDEX\b/.test(action)) {
      report('danger', 'builds an index under an exclusive lock: CREATE UNIQUE INDEX CONCURRENTLY first, then USING INDEX')
    }
    if (/^ADD (CONSTRAINT \S+ )?EXCLUDE\b/.test(action)) report('danger', 'exclusion constraint builds its index under an exclusive lock')
    if (/^SET (LOGGED|UNLOGGED|TABLESPACE)\b/.test(action)) report('danger', 'rewrites the table under an exclusive lock')
  } else {
    if (/^(MODIFY|CHANGE)\b/.test(action)) report('danger', 'changes a column definition: often copies the table, and attributes that are not repeated are lost')
    if (/^CONVERT TO CHARACTER SET\b/.test(action)) report('danger', 'converts the character set: copies the table, blocks writes, can change key lengths')
    if (/^(ADD|DROP) PRIMARY KEY\b/.test(action)) report('danger', 'changes the primary key: rebuilds the table and all indexes')
    if (/^ALGORITHM ?=? ?COPY\b/.test(action)) report('danger', 'ALGORITHM=COPY blocks writes for the whole duration')
    if (/^LOCK ?=? ?(SHARED|EXCLUSIVE)\b/.test(action)) report('warning', 'explicitly demands a lock that blocks writes')
  }
}

function scan(sql, { dialect, wrapped }) {
  const findings = []
  const statements = split(sql, dialect)
  const postgres = dialect === 'postgres'
  const created = new Set()
  const notValid = new Set()
  let transaction = wrapped
  let timeout = false
  let timeoutMissing = 0
  let ddlInTransaction = 0
  let mixed = 0

  for (const { line, text, upper } of statements) {
    const report = (level, message) =>
      findings.push({ level, line, message, statement: text.length > 70 ? `${text.slice(0, 67)}...` : text })

    if (/^(BEGIN|START TRANSACTION)\b/.test(upper)) {
      transaction = true
      if (!postgres) report('check', 'DDL commits implicitly in MySQL: the transaction does not protect it')
    } else if (/^(COMMIT|ROLLBACK(?! TO\b)|END)\b/.test(upper)) {
      transaction = wrapped
      ddlInTransaction = 0
    }
    if (/^SET (SESSION |LOCAL |@@SESSION\.)?(LOCK_TIMEOUT|LOCK_WAIT_TIMEOUT)\b/.test(upper)) timeout = true

    const table = CREATE_TABLE.exec(upper)
    if (table) created.add(table[1])

    const index = CREATE_INDEX.exec(upper)
    const alter = ALTER.exec(upper)
    const target = index?.[3] ?? alter?.[1]
    const fresh = target !== undefined && created.has(target)
    const locks = (alter || index || /^(DROP|TRUNCATE|REINDEX|CLUSTER|LOCK)\b/.test(upper)) && !fresh
    if (locks) {
      if (!timeout && !timeoutMissing) timeoutMissing = line
      if (transaction) ddlInTransaction = line
    }

    if (index && postgres) {
      if (!index[2] && !fresh) report('danger', 'CREATE INDEX without CONCURRENTLY blocks all writes to the table')
      if (index[2] && transaction) report('danger', 'CREATE INDEX CONCURRENTLY cannot run inside a transaction')
      if (index[2] && /\bIF NOT EXISTS\b/.test(upper)) report('check', 'IF NOT EXISTS accepts an invalid index left over from a failed attempt')
    }
    if (alter) {
      const parts = actions(alter[2])
      for (const action of parts) checkAction(action, fresh, dialect, report)
      const name = /\bCONSTRAINT (\S+)/.exec(alter[2])?.[1]
      if (/\bNOT VALID\b/.test(alter[2]) && name) notValid.add(name)
      if (/\bVALIDATE CONSTRAINT\b/.test(alter[2]) && notValid.has(name) && transaction) {
        report('warning', 'VALIDATE in the same transaction as NOT VALID: the stronger lock is held during the scan')
      }
    }
    if (!postgres && (alter || index) && !fresh && !/\bALGORITHM\b/.test(upper)) {
      report('warning', 'no ALGORITHM given: MySQL may copy the table without notice. State INSTANT, or INPLACE with LOCK=NONE')
    }
    if (/^DROP INDEX (?!CONCURRENTLY\b)/.test(upper) && postgres) {
      report('warning', 'DROP INDEX without CONCURRENTLY waits for an exclusive lock. Is the index proven to be unused?')
    }
    if (/^DROP INDEX CONCURRENTLY\b/.test(upper) && transaction) report('danger', 'DROP INDEX CONCURRENTLY cannot run inside a transaction')
    if (/^DROP (TABLE|SCHEMA|DATABASE|MATERIALIZED VIEW|TYPE|SEQUENCE)\b/.test(upper)) {
      report('danger', 'removes an object for good: own migration, archive copy, agreement of the owner')
    }
    if (/^DROP (VIEW|FUNCTION|PROCEDURE|TRIGGER)\b/.test(upper)) report('check', 'who still uses this view, function or trigger?')
    if (/^(DROP|ALTER TABLE|TRUNCATE)\b.*\bCASCADE\b/.test(upper)) report('danger', 'CASCADE removes dependent objects or rows that are not named here')
    if (/^TRUNCATE\b/.test(upper)) report('danger', 'empties the table, and waits for an exclusive lock')
    if (/^RENAME TABLE\b/.test(upper) || /^ALTER (VIEW|SEQUENCE|TYPE) .*\bRENAME\b/.test(upper)) {
      report('danger', 'renames while old code is running')
    }
    if (/^LOCK TABLES?\b/.test(upper)) report('danger', 'explicit lock on a table')
    if (/^(VACUUM\b.*\bFULL\b|CLUSTER\b)/.test(upper)) report('danger', 'rewrites the table under an exclusive lock')
    if (/^REINDEX\b/.test(upper) && !/\bCONCURRENTLY\b/.test(upper)) report('danger', 'REINDEX without CONCURRENTLY blocks writes')
    if (/^REFRESH MATERIALIZED VIEW (?!CONCURRENTLY\b)/.test(upper)) report('warning', 'REFRESH without CONCURRENTLY blocks readers of the view')
    if (/^ALTER TYPE\b.*\bADD VALUE\b/.test(upper) && transaction) {
      report('check', 'the new enum value cannot be used in the same transaction (before PostgreSQL 12 it is not even possible inside one)')
    }
    const dml = /^(WITH\b.*\b)?(UPDATE|DELETE FROM|DELETE)\b/.test(upper) && !/\bFOR (NO KEY )?UPDATE\b/.test(upper)
    if (dml) {
      const verb = /\bDELETE\b/.test(upper) ? 'DELETE' : 'UPDATE'
      if (!/\bWHERE\b/.test(upper)) report('danger', `${verb} without WHERE changes every row in one transaction`)
      else report('check', `${verb}: how many rows? From about 10,000 on in batches, by primary key, repeatable`)
    }
    if (/^INSERT\b.*\bSELECT\b/.test(upper)) report('check', 'INSERT ... SELECT: how many rows, and can it be repeated safely?')
    if ((dml || /^INSERT\b/.test(upper)) && ddlInTransaction && !mixed && postgres) {
      mixed = line
      report('warning', `data is changed in the same transaction as the DDL in line ${ddlInTransaction}: its lock is held until the end`)
    }
    if (/^(DO|CALL)\b/.test(upper)) report('check', 'procedural code is not examined: read it yourself')
  }
  if (timeoutMissing) {
    findings.push({
      level: 'warning',
      line: timeoutMissing,
      message: postgres ? "no SET lock_timeout before the first lock, for example '3s'" : 'no SET SESSION lock_wait_timeout before the first DDL',
      statement: '',
    })
  }
  findings.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || a.line - b.line)
  return { statements: statements.length, findings }
}

function markdown(results) {
  const cell = (text) => text.replaceAll('|', '\\|')
  return results
    .map(({ file, statements, findings }) => {
      const counts = LEVELS.map((level) => `${level}: ${findings.filter((f) => f.level === level).length}`).join(', ')
      const head = [`# ${file}`, '', `${statements} statement${statements === 1 ? '' : 's'}. ${counts}`, '']
      if (!findings.length) return [...head, 'No known pattern found. Sizes, traffic and running code are not known to this script.', ''].join('\n')
      const rows = findings.map((f) => `| ${f.level} | ${f.line} | ${cell(f.message)} | ${f.statement ? `\`${cell(f.statement.replaceAll('`', "'"))}\`` : ''} |`)
      return [...head, '| Level | Line | Finding | Statement |', '| --- | --- | --- | --- |', ...rows, ''].join('\n')
    })
    .join('\n')
    .trimEnd()
}

const files = []
const options = { dialect: 'postgres', wrapped: false, json: false }
const args = process.argv.slice(2)
while (args.length) {
  const arg = args.shift()
  if (arg === '--help' || arg === '-h') {
    console.log(USAGE)
    process.exit(0)
  } else if (arg === '--wrapped') options.wrapped = true
  else if (arg === '--json') options.json = true
  else if (arg === '--dialect') {
    options.dialect = args.shift() ?? ''
    if (options.dialect !== 'postgres' && options.dialect !== 'mysql') fail('--dialect has to be postgres or mysql')
  } else if (arg.startsWith('--')) fail(`unknown option ${arg}\n${USAGE}`)
  else files.push(arg)
}
if (!files.length) fail(`no file given\n${USAGE}`)

const results = []
let unreadable = false
for (const file of files) {
  try {
    const data = readFileSync(file === '-' ? 0 : file)
    if (data.subarray(0, 4096).includes(0)) throw new Error('not a text file (or UTF-16: convert it to UTF-8)')
    const sql = data.toString('utf8').replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
    const result = scan(sql, options)
    if (!result.statements) throw new Error('contains no SQL statement')
    results.push({ file, ...result })
  } catch (error) {
    const reason = error.code === 'ENOENT' ? 'no such file' : error.code === 'EISDIR' ? 'this is a directory' : error.message
    console.error(`scan_migration: ${file}: ${reason}`)
    unreadable = true
  }
}
if (options.json) console.log(JSON.stringify(results, null, 2))
else if (results.length) console.log(markdown(results))
process.exitCode = unreadable ? 2 : results.some((r) => r.findings.some((f) => f.level !== 'check')) ? 1 : 0
