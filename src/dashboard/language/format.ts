import { t } from '@lingui/core/macro'
import { i18n } from './i18n.ts'

/** Caches formatters by locale and options, because they are costly to create and used in every row of a table. */
function cached<Options, Format>(create: (locale: string, options: Options | undefined) => Format) {
  const formats = new Map<string, Format>()
  return (options?: Options): Format => {
    const locale = currentLocale()
    const key = `${locale} ${JSON.stringify(options)}`
    const format = formats.get(key) ?? create(locale, options)
    formats.set(key, format)
    return format
  }
}

/** Such as `es-MX`. */
function currentLocale(): string {
  return [i18n.locales ?? i18n.locale].flat()[0] ?? i18n.locale
}

export const numberFormat = cached(
  (locale, options: Intl.NumberFormatOptions | undefined) => new Intl.NumberFormat(locale, options),
)
export const dateFormat = cached(
  (locale, options: Intl.DateTimeFormatOptions | undefined) => new Intl.DateTimeFormat(locale, options),
)
export const relativeTimeFormat = cached(
  (locale, options: Intl.RelativeTimeFormatOptions | undefined) => new Intl.RelativeTimeFormat(locale, options),
)
export const displayNames = cached(
  (locale, options: Intl.DisplayNamesOptions = { type: 'language' }) => new Intl.DisplayNames(locale, options),
)
const listFormat = cached((locale, options: Intl.ListFormatOptions | undefined) => new Intl.ListFormat(locale, options))

/** `1,905` */
export function formatNumber(value: number): string {
  return numberFormat().format(value)
}

/** `one, two and three` */
export function formatList(items: readonly string[]): string {
  return listFormat({ type: 'conjunction' }).format(items)
}

/** `Spain`, for the ISO 3166 code of a country. */
export function describeCountry(code: string): string {
  return code === '' ? t`Unknown` : (displayNames({ type: 'region' }).of(code) ?? code)
}
