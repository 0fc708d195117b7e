/** The differences between the templates of two files, named like `order_shipped (en)`. */
export interface TypeChanges {
  added: string[]
  removed: string[]
  changed: string[]
}

/** Compares the declarations of two files, ignoring their formatting. */
export function compareTypes(before: string, after: string): TypeChanges {
  const previous = readVersions(before)
  const current = readVersions(after)
  return {
    added: [...current.keys()].filter((name) => !previous.has(name)),
    removed: [...previous.keys()].filter((name) => !current.has(name)),
    changed: [...current]
      .filter(([name, text]) => previous.has(name) && previous.get(name) !== text)
      .map(([name]) => name),
  }
}

export function countChanges({ added, removed, changed }: TypeChanges): number {
  return added.length + removed.length + changed.length
}

/** Returns the tokens of each declaration, by template and language. */
function readVersions(text: string): Map<string, string> {
  const tokens = tokenize(text)
  const versions = new Map<string, string>()
  const start = tokens.indexOf('ApprovedTemplates') + 1
  if (start === 0) return versions
  const path: string[] = []
  let name = ''
  let comment = ''
  let declared: string[] = []
  for (const token of tokens.slice(start)) {
    if (token === '{') {
      path.push(name)
      if (path.length === 3) declared = [comment]
    }
    if (path.length >= 3) declared.push(token)
    else if (token.startsWith('/**')) comment = token
    else if (token !== '{' && token !== '}' && token !== ':') name = token
    if (token !== '}') continue
    if (path.length === 3) {
      versions.set(`${unquote(path[1])} (${unquote(path[2])})`, declared.join(' '))
      comment = ''
    }
    path.pop()
    if (path.length === 0) break
  }
  return versions
}

const tokenPattern = /\/\*\*[^]*?\*\/|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\w$]+|[{}:?|<>[\]]/g

/** Omits separators and normalizes the quotes of names and strings, because formatters change both. */
function tokenize(text: string): string[] {
  const declarations = text.replaceAll(/^\s*\/\/.*$/gm, '')
  const tokens = [...declarations.matchAll(tokenPattern)].map(([token]) => {
    if (token.startsWith('/**')) return token.replaceAll(/\s+/g, ' ')
    if (!/^['"]/.test(token)) return token
    const inner = unquote(token)
    return /^[\w$]+$/.test(inner) ? inner : `'${inner}'`
  })
  // Prettier writes a bar before the first type of a union that it splits into lines.
  return tokens.filter((token, index) => token !== '|' || !['<', ':', '['].includes(tokens[index - 1] ?? ''))
}

function unquote(token = ''): string {
  if (token.startsWith('"')) return token.slice(1, -1).replaceAll('\\"', '"')
  return token.startsWith("'") ? token.slice(1, -1).replaceAll("\\'", "'") : token
}
