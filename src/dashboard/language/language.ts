import { useLingui } from '@lingui/react'
import type { Messages } from '@lingui/core'
import { activate, i18n } from './i18n.ts'
import { loadServerTexts } from './server-text.ts'

/** The languages of the dashboard, each by its own name. */
export const languages = { en: 'English', es: 'Español' } as const
export type Language = keyof typeof languages

/** Loaded only if they are needed. */
const catalogues: Record<Exclude<Language, 'en'>, () => Promise<{ messages: Messages }>> = {
  es: () => import('./catalogues/es.po'),
}

/** The local storage key of the chosen language. */
const storageKey = 'waybill-language'

/** Shows the language that was chosen in this browser, or else the first of the browser's own that we have. */
export async function startLanguage(): Promise<void> {
  const wanted = [localStorage.getItem(storageKey) ?? '', ...navigator.languages.map((tag) => tag.split('-')[0] ?? '')]
  await show(wanted.find(isLanguage) ?? 'en')
}

/** Shows another language at once and keeps the choice. What was typed stays. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(storageKey, language)
  await show(language)
}

/** The language on the screen. Renders again when it changes. */
export function useLanguage(): Language {
  const { locale } = useLingui().i18n
  return isLanguage(locale) ? locale : 'en'
}

async function show(language: Language): Promise<void> {
  if (language === 'en') activate(language, {})
  else {
    const [{ messages }, { serverTexts }] = await Promise.all([catalogues[language](), import('./server-texts.ts')])
    loadServerTexts(serverTexts)
    activate(language, messages)
  }
  document.documentElement.lang = i18n.locale
}

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text)
}
