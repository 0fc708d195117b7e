import { defineConfig } from '@lingui/conf'
import { formatter } from '@lingui/format-po'

/** English texts are in the code; the catalogues contain the other languages. `npm run texts` updates them. */
// oxlint-disable-next-line import/no-default-export -- Lingui takes its configuration from it.
export default defineConfig({
  rootDir: import.meta.dirname,
  sourceLocale: 'en',
  locales: ['es'],
  catalogs: [
    { path: '<rootDir>/language/catalogues/{locale}', include: ['<rootDir>'], exclude: ['<rootDir>/built*/**'] },
  ],
  // Line numbers would change the catalogue with every edit.
  format: formatter({ lineNumbers: false }),
  orderBy: 'origin',
  runtimeConfigModule: {
    i18n: [`${import.meta.dirname}/language/i18n.ts`, 'i18n'],
    Trans: ['@lingui/react', 'Trans'],
    useLingui: ['@lingui/react', 'useLingui'],
  },
})
