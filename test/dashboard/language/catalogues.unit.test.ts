import { getCatalogs } from '@lingui/cli/api'
import { makeConfig } from '@lingui/conf'
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage'
import { expect, test } from 'vitest'
import linguiConfig from '../../../src/dashboard/lingui.config.ts'

const config = makeConfig(linguiConfig, { skipValidation: true })
const locales: string[] = config.locales

const opened = openCatalogue()

/** Collects the texts in the code only once, because this takes seconds. */
async function openCatalogue() {
  const [catalogue] = await getCatalogs(config)
  if (!catalogue) throw new Error('no catalogue is configured')
  return { catalogue, inCode: (await catalogue.collect()) ?? {} }
}

/** The texts in the code and in the catalogue of a language, by message ID. */
async function readTexts(locale: string) {
  const { catalogue, inCode } = await opened
  return { inCode, translated: (await catalogue.read(locale)) ?? {} }
}

type Part = string | [name: string, type?: string, cases?: Record<string, Part[] | number | undefined>]

/** The values and tags of a message, such as `name` and `<0>`, sorted. */
function listPlaceholders(message: string): string[] {
  const names = new Set<string>()
  const visit = (parts: readonly Part[]) => {
    for (const part of parts) {
      if (typeof part === 'string') for (const [tag] of part.matchAll(/<\/?\d+\/?>/g)) names.add(tag)
      else {
        names.add(part[0])
        for (const inner of Object.values(part[2] ?? {})) if (Array.isArray(inner)) visit(inner)
      }
    }
  }
  visit(compileMessageOrThrow(message) as Part[])
  return [...names].toSorted()
}

/** The forms of each plural of a message, such as `one` and `other`. */
function listPluralForms(message: string): string[][] {
  return (compileMessageOrThrow(message) as Part[]).flatMap((part) =>
    typeof part !== 'string' && part[1] === 'plural'
      ? [Object.keys(part[2] ?? {}).filter((key) => key !== 'offset')]
      : [],
  )
}

test.each(locales)('the catalogue of %s has every text and no obsolete ones', async (locale) => {
  const { inCode, translated } = await readTexts(locale)
  const missing = Object.entries(inCode).filter(([id]) => (translated[id]?.translation ?? '') === '')
  const orphans = Object.keys(translated).filter((id) => !(id in inCode))

  expect(Object.keys(inCode).length).toBeGreaterThan(1000)
  expect(missing.map(([, { message }]) => message)).toEqual([])
  expect(orphans).toEqual([])
})

test.each(locales)('the texts of %s have the same placeholders as the English ones', async (locale) => {
  const { inCode, translated } = await readTexts(locale)
  const different = Object.entries(inCode).flatMap(([id, { message = '' }]) => {
    const translation = translated[id]?.translation ?? ''
    const same = listPlaceholders(message).join() === listPlaceholders(translation).join()
    return same ? [] : [{ message, translation }]
  })

  expect(different).toEqual([])
})

test.each(locales)('the plurals of %s have the forms of the language', async (locale) => {
  const { inCode, translated } = await readTexts(locale)
  // The form `many` is only for millions, which may use the form `other`.
  const needed = new Intl.PluralRules(locale).resolvedOptions().pluralCategories.filter((form) => form !== 'many')
  const plurals = Object.entries(inCode).filter(([, { message = '' }]) => listPluralForms(message).length > 0)
  const incomplete = plurals.filter(([id]) => {
    const forms = listPluralForms(translated[id]?.translation ?? '')
    return forms.length === 0 || forms.some((one) => needed.some((form) => !one.includes(form)))
  })

  expect(plurals.length).toBeGreaterThan(20)
  expect(incomplete.map(([, { message }]) => message)).toEqual([])
})

test('the Spanish catalogue has an article before a time that is an element', async () => {
  const { translated } = await readTexts('es')
  const texts = Object.values(translated).map(({ translation = '' }) => translation)

  expect(texts.filter((text) => /\b(?:desde|hasta) el <\d\/>/i.test(text)).length).toBeGreaterThan(3)
  expect(texts.filter((text) => /\b(?:desde|hasta|en) <\d\/>/i.test(text))).toEqual([])
})

/** Imperatives of the formal address, and words that only it has. */
const formal =
  /(?:^|[.:;¿¡(] ?)(?:Abra|Active|Añada|Busque|Cambie|Compruebe|Conecte|Consulte|Copie|Cree|Deje|Déjel[ao]|Elija|Envíe|Escriba|Espere|Guarde|Haga|Indique|Intente|Inténtelo|Introduzca|Lea|Llame|Pegue|Pida|Pruebe|Pulse|Reemplace|Revise|Seleccione|Sincronice|Tenga|Use|Vea|Vuelva)\b|, (?:añada|busque|compruebe|elija|espere|pida)\b|\b[Uu]sted\b|\bsus? propi[ao]s? dirección|\bsus aplicaciones\b/

test('the Spanish catalogue addresses the reader as tú', async () => {
  const { translated } = await readTexts('es')
  const texts = Object.values(translated).map(({ translation = '' }) => translation)

  expect(texts.length).toBeGreaterThan(1000)
  expect(texts.filter((text) => formal.test(text))).toEqual([])
})
