const a = await import('a2a-sdk-02/client'); const b = await import('a2a-sdk-03/client'); const c = await import('a2a-sdk-10/client');
const bg = await import('a2a-sdk-03/client/grpc'); const cg = await import('a2a-sdk-10/client/grpc');
console.log(process.version, Object.keys(a), Object.keys(bg), Object.keys(cg), Object.keys(await import('a2a-sdk-10')).slice(0,60));
for (const u of ['127.0.0.1:1','http://127.0.0.1:1','dns:///127.0.0.1:1']) { const f=new cg.GrpcTransportFactory(); const t=await f.create(u,{}); await t.getTask({id:'x',tenant:''}).catch(e=>console.log(u,e.constructor.name,e.name,String(e.message).slice(0,150))); }
process.exit(0);
