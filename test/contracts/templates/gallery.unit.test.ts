import { expect, test } from 'vitest'
import { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import { galleryLanguages } from '../../../contracts/templates/gallery-texts.ts'
import { galleryItems, makeGalleryTemplate } from '../../../contracts/templates/gallery.ts'
import { describeTemplateProblem, findTemplateProblems } from '../../../contracts/templates/rules.ts'
import { toComponents, toDefinition, toParameterFormat } from '../../../src/whatsapp/template-components.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'

const all = galleryItems.flatMap(({ name, category }) =>
  galleryLanguages.map((language) => ({ name, language, category })),
)

test('has nine utility and authentication templates in five languages', () => {
  expect(all).toHaveLength(45)
  expect(new Set(galleryItems.map(({ category }) => category))).toEqual(new Set(['UTILITY', 'AUTHENTICATION']))
})

test.each(all)('$name in $language passes the rules, and reads back as it was written', ({ name, language }) => {
  const template = makeGalleryTemplate(name, language)

  expect(findTemplateProblems(TemplateDefinition.parse(template)).map(describeTemplateProblem)).toEqual([])
  const components = toComponents(template)
  expect(toParameterFormat(template)).toBe('POSITIONAL')
  expect(toDefinition({ ...template, components })).toEqual(template)
})

test.each([
  { language: 'en', amount: '€42.00', day: '31 May' },
  { language: 'es', amount: '42,00\u00A0€', day: '31 de mayo' },
  { language: 'pt_BR', amount: '€\u00A042,00', day: '31 de maio' },
  { language: 'de', amount: '42,00\u00A0€', day: '31. Mai' },
  { language: 'fr', amount: '42,00\u00A0€', day: '31 mai' },
] as const)('writes amounts and dates of examples as readers of $language do', ({ language, amount, day }) => {
  const { body } = makeGalleryTemplate('invoice_available', language)

  expect(body?.examples).toEqual({ '1': 'Ada', '2': 'B-7', '3': amount, '4': day })
})

test('the simulator, which has its own rules, accepts all of them', async () => {
  const simulator = await startSimulator()
  const whatsapp = createCloudApi({ url: simulator.url, version: 'v25.0' })
  simulator.templates.clear()
  const refused: unknown[] = []
  for (const { name, language } of all) {
    const created = await whatsapp.createTemplate(simulator, makeGalleryTemplate(name, language), {
      withOptimizations: false,
    })
    if (!created.ok) refused.push([name, language, created.error])
  }
  await whatsapp.close()
  await simulator.stop()

  expect(refused).toEqual([])
  expect(simulator.templates.all()).toHaveLength(45)
})
