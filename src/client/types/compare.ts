/** How the templates of two files differ, each named as `order_shipped (en)`. */
export interface TypeChanges {
  added: string[]
  removed: string[]
  changed: string[]
}

/** Compares what two files declare. How they are formatted makes no difference. */
export function compareTypes(before: string, after: string): TypeChanges {
  const old = readVersions(before)
  const current = readVersions(after)
  return {
    added: [...current.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !current.has(name)),
    changed: [...current].filter(([name, text]) => old.has(name) && old.get(name) !== text).map(([name]) => name),
  }
}

export function countChanges({ added, removed, changed }: TypeChanges): number {
  return added.length + removed.length + changed.length
}

/** The declaration of each template and language, as its tokens. */
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

/** Without separators, and with every name and string in one spelling. */
function tokenize(text: string): string[] {
  const declarations = text.replaceAll(/^\s*\/\/.*$/gm, '')
  return [...declarations.matchAll(tokenPattern)].map(([token]) => {
    if (token.startsWith('/**')) return token.replaceAll(/\s+/g, ' ')
    if (!/^['"]/.test(token)) return token
    const inner = unquote(token)
    return /^[\w$]+$/.test(inner) ? inner : `'${inner}'`
  })
}

function unquote(token = ''): string {
  if (token.startsWith('"')) return token.slice(1, -1).replaceAll('\\"', '"')
  return token.startsWith("'") ? token.slice(1, -1).replaceAll("\\'", "'") : token
}
