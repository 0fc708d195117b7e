import { PageHeader } from '../../ui/page.tsx'
import { AddSection } from './add-section.tsx'
import { CategoriesSection } from './categories-section.tsx'
import { ListSection } from './list-section.tsx'

export function SuppressionsPage() {
  return (
    <>
      <PageHeader
        title="Suppressions"
        description="Recipients who opted out. Messages of the stopped categories to them are rejected before they are sent."
      />
      <ListSection />
      <AddSection />
      <CategoriesSection />
    </>
  )
}
