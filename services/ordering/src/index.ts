export { readCatalogue, readCatalogues } from './catalogue-file.ts';
export { type OrderingConfig, readOrderingConfig } from './config.ts';
export { type Catalogue, parseCatalogue } from './domain/catalogue.ts';
export { safetyFaults } from './domain/catalogue-safety.ts';
export { type Catalogues, createCatalogues } from './domain/catalogues.ts';
export { type OrderingDependencies, ordering } from './service.ts';
export { migrations, type OrderingDatabase, openOrderingDatabase } from './store/database.ts';
