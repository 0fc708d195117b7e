/** A page of the documentation, rendered. */
export interface Page {
  /** The path below `/docs/`; empty for the first page. */
  slug: string
  title: string
  /** One sentence, for search engines, `/llms.txt` and lists. */
  summary: string
  /** The slug that the navigation marks as current; error pages stand behind the list of errors. */
  navigation: string
  html: string
  markdown: string
  sections: Section[]
}

/** What a heading stands above, as plain text for the search. */
export interface Section {
  /** Anchor on the page; empty for what stands above the first heading. */
  id: string
  title: string
  level: number
  text: string
}

/** An entry of the search index. */
export interface SearchEntry {
  url: string
  page: string
  title: string
  text: string
}

export function urlOf(slug: string): string {
  return slug === '' ? '/docs' : `/docs/${slug}`
}

export function markdownUrlOf(slug: string): string {
  return `/docs/${slug === '' ? 'index' : slug}.md`
}
