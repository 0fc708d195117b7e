import { cut, toLine } from '../text.ts'

/** Subject and body of an email. */
export interface EmailContent {
  subject: string
  text: string
  html: string
  /** Page on which the recipient can unsubscribe (RFC 2369). */
  unsubscribeUrl?: string
}

interface EmailDraft {
  subject: string
  /** Plain text without markup. */
  paragraphs: readonly string[]
  link?: { label: string; url: string }
  /** Shown after the link, such as when it expires. */
  closing?: readonly string[]
  /** Page on which the recipient can unsubscribe, shown at the end. */
  unsubscribeUrl?: string
}

const maxSubjectLength = 150

/**
 * Writes the same content as text and as simple HTML. Names come from users, so they are escaped, and line breaks in a
 * subject, which could add header fields, become spaces.
 */
export function composeEmail({ subject, paragraphs, link, closing = [], unsubscribeUrl }: EmailDraft): EmailContent {
  const before = paragraphs.map(toLine)
  const after = closing.map(toLine)
  const end = unsubscribeUrl === undefined ? [] : [unsubscribeUrl]
  const text = [...before, ...(link ? [link.url] : []), ...after, ...end].join('\n\n')
  const html = [
    ...before.map(toParagraph),
    ...(link ? [toLink(link)] : []),
    ...after.map(toParagraph),
    ...end.map((url) => toLink({ label: url, url })),
  ].join('\n')
  return {
    subject: cut(toLine(subject), maxSubjectLength),
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${html}\n</body></html>\n`,
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  }
}

function toLink({ label, url }: { label: string; url: string }): string {
  return `<p><a href="${escapeHtml(url)}">${escapeHtml(label)}</a></p>`
}

function toParagraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character)
}
