import { i18n, type MessageDescriptor, type Messages } from '@lingui/core'

/** Sets the current language and re-renders everything that shows text. */
export function activate(language: string, messages: Messages): void {
  i18n.loadAndActivate({ locale: language, locales: ownVariant(language), messages })
}

/** The reader's variant of a language, such as `es-MX`, for numbers and dates. */
function ownVariant(language: string): string {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language
}

// English needs no catalogue, because its texts are in the code.
activate('en', {})

/** Translates a message from a constant table. Such tables are created once, so they contain `msg` instead of texts. */
export function translate(text: MessageDescriptor): string {
  return i18n._(text)
}

export { i18n }
