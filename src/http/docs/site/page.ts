/** A rendered documentation page. */
export interface Page {
  /** The path below `/docs/`; empty for the first page. */
  slug: string
  title: string
  /** One sentence, for search engines, `/llms.txt` and lists. */
  summary: string
  /** The slug that the navigation marks as current; for error pages, that of the error list. */
  navigation: string
  html: string
  markdown: string
  sections: Section[]
}

/** A heading and the plain text below it, for the search index. */
export interface Section {
  /** Anchor on the page; empty for the section of the title. */
  id: string
  title: string
  level: number
  text: string
}

/** An entry in the search index. */
export interface SearchEntry {
  url: string
  page: string
  title: string
  text: string
  /** Of the entry of a page: what readers also call its subject. */
  keywords?: string
}

export function urlOf(slug: string): string {
  return slug === '' ? '/docs' : `/docs/${slug}`
}

export function markdownUrlOf(slug: string): string {
  return `/docs/${slug === '' ? 'index' : slug}.md`
}

/** Escapes text for HTML, including attribute values in double quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
