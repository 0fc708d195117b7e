import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'

/** The fields by which an entry of a password file is found. */
export interface ConnectionTarget {
  host: string
  port: number
  database: string
  user: string
}

/** A password that could not be obtained. The message never contains any part of it. */
export class DatabasePasswordError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DatabasePasswordError'
  }
}

/** Returns the password of the first matching line of a file in libpq's `.pgpass` format. */
export function findPassword(content: string, { host, port, database, user }: ConnectionTarget): string | undefined {
  // A Unix socket counts as localhost.
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of content.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const { fields, rest } = splitFields(line, wanted.length)
    if (fields.length < wanted.length || rest === '') continue
    // Only an unescaped asterisk matches everything.
    if (fields.every((field, index) => field === '*' || unescape(field) === wanted[index])) return unescape(rest)
  }
  return undefined
}

/** A field ends at a colon that no backslash precedes. */
function splitFields(line: string, count: number): { fields: string[]; rest: string } {
  const fields: string[] = []
  let rest = line
  while (fields.length < count) {
    const [all, field] = /^((?:[^\\:]|\\.)*):/.exec(rest) ?? []
    if (all === undefined || field === undefined) break
    fields.push(field)
    rest = rest.slice(all.length)
  }
  return { fields, rest }
}

function unescape(field: string): string {
  return field.replaceAll(/\\(.)/g, '$1')
}

/** Reads the password file anew for each connection, so that a changed password is used at once. */
export async function readPasswordFile(
  named: string | undefined,
  target: ConnectionTarget,
): Promise<string | undefined> {
  const file = named ?? defaultFile()
  try {
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new DatabasePasswordError(
        `the password file ${file} can be read by other users, so it is ignored. Run: chmod 600 ${file}`,
      )
    return findPassword(await readFile(file, 'utf8'), target)
  } catch (error) {
    // The default file is optional.
    if (named === undefined) return undefined
    if (error instanceof DatabasePasswordError) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new DatabasePasswordError(`PGPASSFILE names a file that cannot be read (${code}): ${file}`)
  }
}

function defaultFile(): string {
  if (process.platform === 'win32') return path.join(process.env['APPDATA'] ?? '.', 'postgresql', 'pgpass.conf')
  return path.join(homedir(), '.pgpass')
}
