import { t } from '@lingui/core/macro'
import { PageHeader } from '../../ui/page.tsx'
import { AddSection } from './add-section.tsx'
import { CategoriesSection } from './categories-section.tsx'
import { ListSection } from './list-section.tsx'

export function SuppressionsPage() {
  return (
    <>
      <PageHeader
        title={t`Suppressions`}
        description={t`Recipients who opted out. Waybill rejects messages to them: those of the stopped categories, or all messages.`}
      />
      <ListSection />
      <CategoriesSection />
      <AddSection />
    </>
  )
}
