import { execFileSync } from 'node:child_process'
import { chromium, type Browser } from 'playwright-core'

/** Disables requests by the browser itself, so that tests see only those of the page. */
export const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: flags })
}

/** The headless shell renders the same, and takes less CPU time, because it has no windows. */
export function findChromium(): string {
  const named = process.env['CHROMIUM_PATH']
  if (named !== undefined) return named
  for (const name of ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim()
    } catch {
      // Try the next name.
    }
  }
  throw new Error(
    'The browser tests need Chromium. Install it (Debian: apt-get install chromium-headless-shell) or name one in CHROMIUM_PATH.',
  )
}
