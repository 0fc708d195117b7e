const placeholder = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/** Replaces placeholders by their values. A placeholder without a value stays visible. */
export function fillText(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(placeholder, (whole, key: string) =>
    Object.hasOwn(variables, key) && variables[key] !== '' ? (variables[key] ?? whole) : whole,
  )
}

/** Replaces the only placeholder of a text, whatever its name. */
export function fillOnly(text: string, value: string): string {
  return value === '' ? text : text.replace(placeholder, () => value)
}

export function splitPlaceholders(text: string): { text: string; isPlaceholder: boolean }[] {
  return text
    .split(/(\{\{\s*[A-Za-z0-9_]+\s*\}\})/)
    .map((part, index) => ({ text: part, isPlaceholder: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

/** A piece of text with WhatsApp formatting. */
export type Piece = { kind: 'text' | 'mono'; text: string } | { kind: 'bold' | 'italic' | 'strike'; pieces: Piece[] }

const marks = { '*': 'bold', _: 'italic', '~': 'strike' } as const

/**
 * Text in backticks is literal. The other marks enclose words on one line: an opening mark has no letter before
 * it and no space after it, and a closing mark the reverse.
 */
const formatted =
  /```(?<block>[\s\S]+?)```|`(?<inline>[^`\n]+)`|(?<![\p{L}\p{N}])(?<mark>[*_~])(?!\s|\k<mark>)(?<marked>.*?\S)\k<mark>(?![\p{L}\p{N}])/gu

/** Parses WhatsApp formatting: `*bold*`, `_italic_`, `~strike~` and "```mono```". */
export function parseFormatting(text: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(formatted)) {
    if (match.index > end) pieces.push({ kind: 'text', text: text.slice(end, match.index) })
    pieces.push(toPiece(match.groups ?? {}))
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) })
  return pieces
}

function toPiece({ block, inline, mark, marked }: Record<string, string | undefined>): Piece {
  const mono = block ?? inline
  if (mono !== undefined) return { kind: 'mono', text: mono }
  // A match without backticks is a formatting mark.
  return { kind: marks[mark as keyof typeof marks], pieces: parseFormatting(marked ?? '') }
}
