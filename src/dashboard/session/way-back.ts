/** The sign-in page, and where it leads afterwards. */
export function signInPath(to: string): string {
  return to === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to })}`
}

/** Only a page of ours: whoever made the link might lead elsewhere. */
export function readWayBack(search: URLSearchParams): string {
  const to = search.get('to') ?? '/'
  return /^\/(?![/\\])/.test(to) ? to : '/'
}
