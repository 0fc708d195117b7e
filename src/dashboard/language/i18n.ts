import { i18n, type MessageDescriptor, type Messages } from '@lingui/core'

/** Makes a language the current one. Everything that shows text is then rendered again. */
export function activate(language: string, messages: Messages): void {
  i18n.loadAndActivate({ locale: language, locales: ownVariant(language), messages })
}

/** The reader's variant of a language, such as `es-MX`, for numbers and dates. */
function ownVariant(language: string): string {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language
}

// English texts stand in the code, so English needs no catalogue.
activate('en', {})

/** The text of a table, in the language of the moment. Tables are made once, so they hold `msg` instead of texts. */
export function translate(text: MessageDescriptor): string {
  return i18n._(text)
}

export { i18n }
