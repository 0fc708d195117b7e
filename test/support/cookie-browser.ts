/** Follows redirects between sites and keeps the cookies of each, like a browser. */
export interface CookieBrowser {
  get(url: string): Promise<Response>
  post(url: string, body: object): Promise<Response>
}

const mostRedirects = 20

export function openCookieBrowser(): CookieBrowser {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: string) => {
    const { host } = new URL(url)
    const jar = jars.get(host) ?? new Map<string, string>()
    jars.set(host, jar)
    return jar
  }
  const request = async (url: string, init: RequestInit = {}) => {
    const cookie = [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { ...init.headers, cookie } })
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field) ?? []
      if (name === undefined || value === undefined) continue
      if (value === '' || /max-age=0/i.test(field)) jarOf(url).delete(name)
      else jarOf(url).set(name, value)
    }
    return response
  }
  return {
    get: async (url) => {
      let at = url
      for (let redirects = 0; redirects < mostRedirects; redirects++) {
        const response = await request(at)
        const location = response.headers.get('location')
        if (location === null) return response
        at = new URL(location, at).href
      }
      throw new Error(`more than ${mostRedirects} redirects from ${url}`)
    },
    post: (url, body) =>
      request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: new URL(url).origin },
        body: JSON.stringify(body),
      }),
  }
}
