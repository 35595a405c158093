/** What class-transformer knows of @Type; it has no public way to ask. @nestjs/mapped-types reads it the same way. */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage';
}
