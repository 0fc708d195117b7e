import { defineConfig, type ExtractorType } from '@lingui/conf'
import { formatter } from '@lingui/format-po'
import { generateMessageId } from '@lingui/message-utils/generateMessageId'
import { factTexts } from '../../contracts/facts/catalogue.ts'

/** The file as which the catalogues name the origin of facts. */
export const factCatalogue = 'contracts/facts/catalogue.ts'

const codeExtractor: ExtractorType = {
  match: (file) => /\.tsx?$/.test(file),
  async extract(...args) {
    // Loaded on demand, because builds only read catalogues.
    const { extractor } = await import('@lingui/cli/api')
    await extractor.extract(...args)
  },
}

/** The facts of the server have their English texts in the contracts. */
const factExtractor: ExtractorType = {
  match: (file) => file.endsWith(factCatalogue),
  extract(_file, _code, onMessageExtracted) {
    for (const [code, message] of factTexts) {
      // Lingui types it as any.
      const id = generateMessageId(message) as string
      onMessageExtracted({ id, message, comment: code, origin: [factCatalogue, 1] })
    }
  },
}

/** English texts are in the code; the catalogues contain the other languages. `npm run texts` updates them. */
// oxlint-disable-next-line import/no-default-export -- Lingui takes its configuration from it.
export default defineConfig({
  rootDir: import.meta.dirname,
  sourceLocale: 'en',
  locales: ['es'],
  catalogs: [
    {
      path: '<rootDir>/language/catalogues/{locale}',
      include: ['<rootDir>', `<rootDir>/../../${factCatalogue}`],
      exclude: ['<rootDir>/built*/**'],
    },
  ],
  extractors: [factExtractor, codeExtractor],
  // Line numbers would change the catalogue with every edit.
  format: formatter({ lineNumbers: false }),
  orderBy: 'origin',
  runtimeConfigModule: {
    i18n: [`${import.meta.dirname}/language/i18n.ts`, 'i18n'],
    Trans: ['@lingui/react', 'Trans'],
    useLingui: ['@lingui/react', 'useLingui'],
  },
})
