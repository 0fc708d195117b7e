import { demoTemplates } from '../../src/whatsapp/simulator/templates/demo-templates.ts'

/** The approved templates of the sandbox. */
export const sendableDemoTemplates = demoTemplates
  .filter(({ status = 'APPROVED' }) => status === 'APPROVED')
  .map(({ name, language = 'en' }) => ({ name, language }))
