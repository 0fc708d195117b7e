import { type PluginObj, transformAsync, types } from '@babel/core'
import linguiMacro from '@lingui/babel-plugin-lingui-macro'
import { makeConfig } from '@lingui/conf'
import { compileMessage } from '@lingui/message-utils/compileMessage'
import { generateMessageId } from '@lingui/message-utils/generateMessageId'
import type { Plugin } from 'vite'
import { factTexts } from '../../contracts/facts/catalogue.ts'
import linguiConfig, { factCatalogue } from '../dashboard/lingui.config.ts'

const config = makeConfig(linguiConfig, { skipValidation: true })

/**
 * Compiles the texts of the dashboard: the macros `t`, `msg` and `<Trans>` in the code, and the catalogues of the other
 * languages. Only files with macros pass through Babel, which changes nothing else.
 */
export function translateDashboard(): Plugin {
  return {
    name: 'translate-dashboard',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/dashboard\/.*\.tsx?$/, code: /@lingui\/(core|react)\/macro/ },
      async handler(code, id) {
        const compiled = await transformAsync(code, {
          filename: id,
          babelrc: false,
          configFile: false,
          sourceMaps: true,
          parserOpts: { plugins: ['jsx', 'typescript'] },
          plugins: [[linguiMacro, { linguiConfig: config, descriptorFields: 'message' }], compileMessages],
        })
        return { code: compiled?.code ?? code, map: compiled?.map ? JSON.stringify(compiled.map) : null }
      },
    },
    load: {
      filter: { id: /\/catalogues\/\w+\.po$/ },
      async handler(id) {
        const messages = await readCatalogue(id.replace(/^.*\/(\w+)\.po$/, '$1'))
        const compiled = messages.map(([key, text]) => [key, compileMessage(text)])
        return `export const messages = JSON.parse(${JSON.stringify(JSON.stringify(Object.fromEntries(compiled)))})`
      },
    },
  }
}

/** Returns the translations of a language: those of facts by code, all others by message ID. */
async function readCatalogue(locale: string): Promise<(readonly [id: string, translation: string])[]> {
  // Loaded on demand, because only builds need it; tests only compile macros.
  const { getCatalogs } = await import('@lingui/cli/api')
  const [catalogue] = await getCatalogs(config)
  const messages = (await catalogue?.read(locale)) ?? {}
  const ofFacts = [...factTexts].map(
    ([code, text]) => [code, messages[generateMessageId(text)]?.translation ?? ''] as const,
  )
  const ofCode = Object.entries(messages).filter(([, { origin = [] }]) =>
    origin.some(([file]) => !file.endsWith(factCatalogue)),
  )
  return [...ofFacts, ...ofCode.map(([id, { translation = '' }]) => [id, translation] as const)]
}

/**
 * Compiles the English texts in place. So English needs no catalogue, each page contains its own texts, and the message
 * parser is not bundled.
 */
const compileMessages: PluginObj = {
  name: 'compile-messages',
  visitor: {
    Program: {
      exit(program) {
        program.traverse({
          ObjectExpression({ node }) {
            // Lingui marks its objects with a comment.
            if (!node.leadingComments?.some(({ value }) => value.includes('i18n'))) return
            for (const property of node.properties)
              if (
                types.isObjectProperty(property) &&
                types.isIdentifier(property.key, { name: 'message' }) &&
                types.isStringLiteral(property.value)
              )
                property.value = types.valueToNode(compileMessage(property.value.value))
          },
        })
      },
    },
  },
}
