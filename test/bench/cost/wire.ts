const bind = 'B'.charCodeAt(0)
const query = 'Q'.charCodeAt(0)
const headerBytes = 5

/** The name of statements that are not prepared. */
const unnamed = '(unnamed)'

/**
 * Names the statements that a client runs in these messages of PostgreSQL's protocol: each Bind message runs a prepared
 * statement, and each Query message runs its text. `pg` writes whole messages.
 */
export function readStatements(messages: Buffer): string[] {
  const names: string[] = []
  for (let at = 0; at + headerBytes <= messages.length; at += 1 + messages.readInt32BE(at + 1)) {
    if (messages[at] === query) names.push(firstWord(readText(messages, at + headerBytes)))
    if (messages[at] !== bind) continue
    const nameAt = messages.indexOf(0, at + headerBytes) + 1
    names.push(readText(messages, nameAt) || unnamed)
  }
  return names
}

function readText(messages: Buffer, at: number): string {
  return messages.toString('utf8', at, messages.indexOf(0, at))
}

function firstWord(statement: string): string {
  return statement.trim().split(/\s/, 1)[0] ?? ''
}
