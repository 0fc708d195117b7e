import { PageHeader } from '../../ui/page.tsx'
import { AddSection } from './add-section.tsx'
import { CategoriesSection } from './categories-section.tsx'
import { ListSection } from './list-section.tsx'

export function SuppressionsPage() {
  return (
    <>
      <PageHeader
        title="Suppressions"
        description="Recipients who opted out. Waybill rejects messages to them in the stopped categories."
      />
      <ListSection />
      <AddSection />
      <CategoriesSection />
    </>
  )
}
