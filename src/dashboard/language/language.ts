import { useLingui } from '@lingui/react'
import type { Messages } from '@lingui/core'
import { activate, i18n } from './i18n.ts'

/** The languages of the dashboard with their native names. */
export const languages = { en: 'English', es: 'Español' } as const
export type Language = keyof typeof languages

/** Loaded on demand. */
const catalogues: Record<Exclude<Language, 'en'>, () => Promise<{ messages: Messages }>> = {
  es: () => import('./catalogues/es.po'),
}

/** The local storage key of the chosen language. */
const storageKey = 'waybill-language'

/**
 * Sets the language chosen in this browser, or the first supported one of the browser's languages. If it cannot be
 * loaded, the dashboard opens in English.
 */
export async function startLanguage(): Promise<void> {
  const wanted = [localStorage.getItem(storageKey) ?? '', ...navigator.languages.map((tag) => tag.split('-')[0] ?? '')]
  try {
    await show(wanted.find(isLanguage) ?? 'en')
  } catch {
    await show('en')
  }
}

/** Changes the language immediately and stores the choice. Form input is kept. Rejects if it cannot be loaded. */
export async function chooseLanguage(language: Language): Promise<void> {
  await show(language)
  localStorage.setItem(storageKey, language)
}

/** The current language. Re-renders when it changes. */
export function useLanguage(): Language {
  const { locale } = useLingui().i18n
  return isLanguage(locale) ? locale : 'en'
}

async function show(language: Language): Promise<void> {
  if (language === 'en') activate(language, {})
  else {
    const { messages } = await catalogues[language]()
    activate(language, messages)
  }
  document.documentElement.lang = i18n.locale
}

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text)
}
